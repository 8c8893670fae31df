import { ConfigError } from './config-error.js'

/** There is no value at a path, or it is null. */
export class ConfigMissingError extends ConfigError {
  override readonly name = 'ConfigMissingError'
  override readonly code = 'missing'
}
