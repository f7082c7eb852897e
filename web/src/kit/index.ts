// Small components that all panels share.
export { Badge, Empty } from "./badge";
export { Button, IconButton, type ButtonProps } from "./button";
export { copy, download } from "./copy";
export { Dialog } from "./dialog";
export * from "./format";
export { Icon, iconPath, typeIcon, type IconName } from "./icons";
export { Markdown } from "./markdown";
export { Menu, MenuButton, type MenuItem } from "./menu";
export { signs, StateSign, type StateName } from "./sign";
export { panelId, Tabs, TabPanel, TabView, tabId, type Tab } from "./tabs";
export { useKept } from "./kept";
export { Virtual, type VirtualHandle, type VirtualProps } from "./virtual";
