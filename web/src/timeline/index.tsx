import { Empty } from "../kit";

/** The panel "Timeline". */
export default function Timeline() {
  return <Empty title="Timeline" />;
}
