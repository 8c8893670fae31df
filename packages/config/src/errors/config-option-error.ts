import { ConfigError } from './config-error.js'

/** An option or a path given in code is no good. */
export class ConfigOptionError extends ConfigError {
  override readonly name = 'ConfigOptionError'
  override readonly code = 'option'
}
