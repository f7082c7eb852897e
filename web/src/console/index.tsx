import { Empty } from "../kit";

/** The panel "Console". */
export default function Console() {
  return <Empty title="Console" />;
}
