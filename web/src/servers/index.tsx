import { Empty } from "../kit";

/** The panel "Servers". */
export default function Servers() {
  return <Empty title="Servers" />;
}
