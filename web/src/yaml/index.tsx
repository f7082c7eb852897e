import { Empty } from "../kit";

/** The panel "YAML". */
export default function YAML() {
  return <Empty title="YAML" />;
}
