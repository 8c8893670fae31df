import { ConfigError } from './config-error.js'

/** What is to be included is required and missing, cannot be read, or includes itself. */
export class ConfigIncludeError extends ConfigError {
  override readonly name = 'ConfigIncludeError'
  override readonly code = 'include'
}
