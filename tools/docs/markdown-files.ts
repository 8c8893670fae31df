import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow, packages, root, workspacesIn } from '../workspaces.js'

const docs = join(root, 'docs')

/** Folders of `docs/` that a build writes. */
const BUILT = ['.vitepress', 'public', 'reference/api'].map((folder) => join(docs, folder, '/'))

/** The pages in `docs/` that somebody writes. */
export function writtenPages(): string[] {
  return filesBelow(docs, '.md').filter((file) => !BUILT.some((folder) => file.startsWith(folder)))
}

/** All Markdown pages except the API reports. */
export function markdownFiles(): string[] {
  const beside = [
    root,
    ...packages().map(({ folder }) => folder),
    ...['examples', 'bench'].flatMap((parent) => workspacesIn(parent).map(({ folder }) => folder)),
  ]
  const pages = beside.flatMap((folder) =>
    readdirSync(folder)
      .filter((name) => name.endsWith('.md') && !name.endsWith('.api.md'))
      .map((name) => join(folder, name)),
  )
  return [...pages, ...writtenPages()]
}
