import type { Environment } from './resolver.js'
import { type Document, type Field, stringAt } from './syntax-tree.js'

const FORCE = 'CONFIG_FORCE_'
const PRODUCT = 'LEASEHOLD_'

/**
 * Returns the settings given by environment variables. All values are strings. `CONFIG_FORCE_jobs_max__hold` sets
 * `jobs.max-hold`, as in lightbend/config: one underscore is a dot, two are a hyphen, three are an underscore.
 * `LEASEHOLD_LEASE_MAX__HOLD` sets `leasehold.lease.max-hold`: the same rule, in lower case, with the prefix as first key.
 */
export function environmentOverrides(env: Environment): Document {
  const fields = Object.entries(env)
    .flatMap(([name, value]) => {
      const path = value === undefined ? undefined : pathOf(name)
      return path === undefined || value === undefined ? [] : [fieldOf(name, path, value)]
    })
    // If one variable sets a key and another sets a key below it, the longer path wins.
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
  return { kind: 'field', path, value: stringAt(value, origin) }
}
