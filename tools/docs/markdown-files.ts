import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { filesBelow, packages, root, workspacesIn } from '../workspaces.js'

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
  return [...pages, ...filesBelow(join(root, 'docs'), '.md')]
}
