/** The nonce of this page's content security policy, for style elements that libraries make. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.nonce ?? "";
}
