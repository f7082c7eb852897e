import { Component, type ReactNode } from "react";
import { Button, Empty } from "../kit";

/** Keeps the failure of a panel in that panel. */
export class Boundary extends Component<{ name: string; children: ReactNode }, { error?: Error }> {
  override state: { error?: Error } = {};

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <Empty title={`${this.props.name} has failed`}>
        <p className="error-text">{error.message}</p>
        <p><Button icon="refresh" onClick={() => this.setState({ error: undefined })}>Try again</Button></p>
      </Empty>
    );
  }
}
