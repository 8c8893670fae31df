import { ConfigError } from './config-error.js'

/** A text is not HOCON (or JSON, or properties): the message says what was expected. */
export class ConfigSyntaxError extends ConfigError {
  override readonly name = 'ConfigSyntaxError'
  override readonly code = 'syntax'
}
