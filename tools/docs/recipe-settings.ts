import { join } from 'node:path'
import { recipeSettings } from '@leasehold/recipes'
import { root } from '../workspaces.js'
import type { OptionsFile } from './provider-options.js'

/** The `reference.conf` of the recipes, as their declared settings have to write it. */
export function recipesReferenceConf(): OptionsFile {
  const blocks = Object.values(recipeSettings).map(
    (declared) => `\nleasehold.recipes.${declared.kind} {${declared.settings()}}\n`,
  )
  const text =
    '# The settings of the recipes, with their defaults. A block of your own takes them over and adds those of its leases:\n' +
    `# reports.nightly = \${leasehold.recipes.schedule} { cron = "0 2 * * *", heartbeat-timeout = 30s }\n` +
    blocks.join('')
  return { path: join(root, 'packages', 'recipes', 'reference.conf'), text }
}
