import { readFileSync } from 'node:fs'
import { LeaseConfigurationError } from '../errors/lease-configuration-error.js'

/** The text of the file that an option names. Throws a `LeaseConfigurationError` with that name if it cannot be read. */
export function readOptionFile(option: string, file: string, store: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    throw new LeaseConfigurationError(`${option} cannot be read: ${(cause as Error).message}`, { store, cause })
  }
}
