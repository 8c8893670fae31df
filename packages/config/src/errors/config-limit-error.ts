import { ConfigError } from './config-error.js'

/** A text is larger, deeper or expands further than the limits allow: see `ConfigLimits`. */
export class ConfigLimitError extends ConfigError {
  override readonly name = 'ConfigLimitError'
  override readonly code = 'limit'
}
