import type { PageFiles } from './page-file.js'

export type { PageFile, PageFiles } from './page-file.js'

/** Run from sources, it builds the page. The published package has another module in this place, with the built files as text. */
export async function builtPage(): Promise<PageFiles> {
  const { buildPage } = await import('./build-page.js')
  return buildPage()
}
