import { Empty } from "../kit";

/** The panel "Runs". */
export default function Runs() {
  return <Empty title="Runs" />;
}
