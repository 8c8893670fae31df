/** One file of the page. */
export interface PageFile {
  /** Below the page; empty for the page itself. */
  readonly path: string
  /** The media type, for the header `content-type`. */
  readonly type: string
  readonly body: Uint8Array
  /** Whether the name has a hash of the contents, so that a browser may keep it for good. */
  readonly isImmutable: boolean
}

/** The files of the page by their paths. */
export type PageFiles = ReadonlyMap<string, PageFile>

/** Run from sources, it builds the page. The published package has another module in this place, with the built files as text. */
export async function builtPage(): Promise<PageFiles> {
  const { buildPage } = await import('./build-page.js')
  return buildPage()
}
