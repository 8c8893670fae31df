import { ConfigError } from './config-error.js'

/** The value at a path is not of the kind that was asked for, and cannot be converted to it. */
export class ConfigTypeError extends ConfigError {
  override readonly name = 'ConfigTypeError'
  override readonly code = 'type'
}
