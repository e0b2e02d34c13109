/** Decides which links of a terminal may be followed. The address is opened by the backend, which asks first. */

/** Returns the address in its normal form when it may be followed, else nothing. */
export function followable(text: string): string | null {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return null;
  }
  switch (url.protocol) {
    case "http:":
    case "https:":
    case "mailto:":
      return url.href;
    default:
      return null;
  }
}
