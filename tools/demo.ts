import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './workspaces.js'

/** `npm run demo -- EXAMPLE`: the failover demo on leases of this machine, or the one of a provider. */
const [name = 'failover'] = process.argv.slice(2)
const examples = join(root, 'examples')
const main = join(examples, name, 'src', 'main.ts')
if (existsSync(main)) await import(main)
else {
  const known = readdirSync(examples).filter((example) => existsSync(join(examples, example, 'src', 'main.ts')))
  console.error(`there is no demo '${name}'; there are ${known.join(', ')}`)
  process.exitCode = 1
}
