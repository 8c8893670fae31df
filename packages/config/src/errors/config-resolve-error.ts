import { ConfigError } from './config-error.js'

/** A substitution has no value or is a link of a cycle, or what is to be concatenated does not fit together. */
export class ConfigResolveError extends ConfigError {
  override readonly name = 'ConfigResolveError'
  override readonly code = 'resolve'
}
