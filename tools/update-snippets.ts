import { readFileSync, writeFileSync } from 'node:fs'
import { markdownFiles } from './docs/markdown-files.js'
import { withSnippets } from './docs/snippets.js'
import { shown } from './workspaces.js'

for (const file of markdownFiles()) {
  const page = readFileSync(file, 'utf8')
  const updated = withSnippets(page)
  if (updated === page) continue
  writeFileSync(file, updated)
  console.log(`${shown(file)} updated`)
}
