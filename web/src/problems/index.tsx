import { Empty } from "../kit";

/** The panel "Problems". */
export default function Problems() {
  return <Empty title="Problems" />;
}
