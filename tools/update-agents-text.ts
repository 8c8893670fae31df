import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { agentsText } from './docs/agents-text.js'
import { packages } from './workspaces.js'

for (const { folder, manifest } of packages()) {
  const copy = join(folder, 'SKILL.md')
  if (copy !== agentsText && manifest.files?.includes('SKILL.md') === true) copyFileSync(agentsText, copy)
}
