import { Empty } from "../kit";

/** The panel "Events". */
export default function Events() {
  return <Empty title="Events" />;
}
