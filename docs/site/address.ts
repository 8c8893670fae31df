/** Where the site is published. */
export interface SiteAddress {
  /** The path below which all pages are, such as `/leasehold/`. */
  readonly base: string
  /** With the host, if it is known; otherwise the base. */
  readonly url: string
}

/**
 * The address in the environment variable `SITE_URL`, such as `https://leasehold.github.io/leasehold/`; the root of any host
 * unless it is set. Throws if it is no address.
 */
export function siteAddress(given = process.env.SITE_URL): SiteAddress {
  if (given === undefined || given === '') return { base: '/', url: '/' }
  if (!URL.canParse(given))
    throw new Error(`SITE_URL is '${given}': it must be an address, such as https://example.org/docs/`)
  const url = new URL(given.endsWith('/') ? given : `${given}/`)
  return { base: url.pathname, url: url.href }
}
