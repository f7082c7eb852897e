import "@xyflow/react/dist/base.css";
import "./kit/base.css";
import "./layout/layout.css";
import "./toolbar/toolbar.css";
import { createRoot } from "react-dom/client";
import { App } from "./layout/app";
import { followTheme } from "./layout/theme";
import { begin } from "./store";

followTheme();
createRoot(document.getElementById("root")!).render(<App />);
void begin();
