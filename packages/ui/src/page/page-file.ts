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
