import { Empty } from "../kit";

/** The panel "Inspector". */
export default function Inspector() {
  return <Empty title="Inspector" />;
}
