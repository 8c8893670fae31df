import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspaces.js'

/** Runs an example: `npm run demo -- EXAMPLE`. Without a name: the failover demo with local leases. */
const [name = 'failover'] = process.argv.slice(2)
const examples = join(root, 'examples')
const main = join(examples, name, 'src', 'main.ts')
if (existsSync(main)) {
  // The example reads its own arguments, as if it had been started directly.
  process.argv.splice(1, 2, main)
  await import(main)
} else {
  const known = readdirSync(examples).filter((example) => existsSync(join(examples, example, 'src', 'main.ts')))
  console.error(`unknown demo '${name}'; choose one of ${known.join(', ')}`)
  process.exitCode = 1
}
