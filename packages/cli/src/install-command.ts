import { existsSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = `${sep}node_modules${sep}`

/** The command that adds packages to the place where this program is installed. `program`: a file of this program. */
export function installCommand(packages: readonly string[], program: string = fileURLToPath(import.meta.url)): string {
  const names = packages.join(' ')
  const end = program.lastIndexOf(MODULES)
  if (end < 0) return `npm install ${names}`
  if (program.includes(`${sep}_npx${sep}`)) {
    return `npx ${['@leasehold/cli', ...packages].map((name) => `-p ${name}`).join(' ')} leasehold …`
  }
  // A project has a package.json beside its node_modules; the place of global packages has none.
  const isGlobal = !existsSync(join(program.slice(0, end), 'package.json'))
  return `npm install ${isGlobal ? '--global ' : ''}${names}`
}
