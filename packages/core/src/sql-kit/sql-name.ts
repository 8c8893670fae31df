import type { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

/** The name of a table or schema that needs no more than quotes. Throws what `misconfigured` makes for any other. */
export function checkedSqlName(
  misconfigured: (message: string) => LeaseConfigurationError,
  option: string,
  name: unknown,
  longest: number,
): string {
  if (typeof name === 'string' && name.length <= longest && /^[A-Za-z_][\w$]*$/.test(name)) return name
  throw misconfigured(
    `${option} must be up to ${longest} letters, digits, underscores and dollars, and begin with a letter or an underscore; not ${JSON.stringify(name)}`,
  )
}
