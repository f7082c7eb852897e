import { Empty } from "../kit";

/** The panel "Input". */
export default function Input() {
  return <Empty title="Input" />;
}
