import { Empty } from "../kit";

/** The panel "Table". */
export default function Table() {
  return <Empty title="Table" />;
}
