import type { Environment } from './resolver.js'
import { type Document, type Field, stringAt } from './syntax-tree.js'

const FORCE = 'CONFIG_FORCE_'
const PRODUCT = 'LEASEHOLD_'

/**
 * The settings that environment variables force, each a string. `CONFIG_FORCE_jobs_max__hold` is `jobs.max-hold`, as in
 * lightbend/config: one underscore is a dot, two are a hyphen, three an underscore. `LEASEHOLD_LEASE_MAX__HOLD` is
 * `leasehold.lease.max-hold`: the same, in lower case, with the prefix for the first key.
 */
export function environmentOverrides(env: Environment): Document {
  const fields = Object.entries(env)
    .flatMap(([name, value]) => {
      const path = value === undefined ? undefined : pathOf(name)
      return path === undefined || value === undefined ? [] : [fieldOf(name, path, value)]
    })
    // A variable for a key, and one for a key below it: the object wins, whatever the order.
    .sort((one, other) => one.path.length - other.path.length)
  return { source: 'environment', statements: fields }
}

function pathOf(name: string): string[] | undefined {
  if (name.startsWith(FORCE)) return split(name.slice(FORCE.length))
  return name.startsWith(PRODUCT) ? split(name.toLowerCase()) : undefined
}

function split(mangled: string): string[] | undefined {
  const path = mangled
    .replaceAll(/_{1,3}/g, ({ length }) => (length === 3 ? '_' : length === 2 ? '-' : '\0'))
    .split('\0')
  return path.includes('') ? undefined : path
}

function fieldOf(name: string, path: readonly string[], value: string): Field {
  const origin = { source: `environment variable ${name}`, line: 0, column: 0 }
  return { kind: 'field', path, append: false, value: stringAt(value, origin) }
}
