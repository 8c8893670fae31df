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
  const statements = Object.entries(env)
    .flatMap(([name, value]): Field[] => {
      const path = pathOf(name)
      if (path.includes('') || value === undefined) return []
      const origin = { source: `environment variable ${name}`, line: 0, column: 0 }
      return [{ kind: 'field', path, value: stringAt(value, origin) }]
    })
    // If one variable sets a key and another sets a key below it, the longer path wins.
    .sort((one, other) => one.path.length - other.path.length)
  return { source: 'environment', statements }
}

/** The path that a variable sets. Has an empty element if the variable is not a setting. */
function pathOf(name: string): string[] {
  if (name.startsWith(FORCE)) return split(name.slice(FORCE.length))
  return split(name.startsWith(PRODUCT) ? name.toLowerCase() : '')
}

function split(mangled: string): string[] {
  return mangled.replaceAll(/_{1,3}/g, ({ length }) => ['\0', '-', '_'][length - 1] ?? '').split('\0')
}
