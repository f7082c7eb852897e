import type { ButtonHTMLAttributes, Ref } from "react";
import { Icon, type IconName } from "./icons";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon?: IconName;
  look?: "primary" | "danger" | "quiet";
  small?: boolean;
  ref?: Ref<HTMLButtonElement>;
}

/** A button with text and, where given, an icon. */
export function Button({ icon, look, small, className, children, ...rest }: ButtonProps) {
  return (
    <button type="button" className={["btn", look, small && "small", !children && "icon", className].filter(Boolean).join(" ")} {...rest}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that is an icon; `label` is its name and its tooltip. */
export function IconButton({ label, ...rest }: ButtonProps & { label: string; icon: IconName }) {
  return <Button look="quiet" aria-label={label} title={label} {...rest} />;
}
