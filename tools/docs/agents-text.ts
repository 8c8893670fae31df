import { join } from 'node:path'
import { root } from '../workspaces.js'

/** What coding agents read about leases. Other packages have copies of it, which `npm run docs:update` writes. */
export const agentsText = join(root, 'packages', 'core', 'SKILL.md')
