export { Config, type ConfigFromOptions } from './config.js'
export {
  ConfigError,
  type ConfigErrorCode,
  ConfigIncludeError,
  ConfigLimitError,
  ConfigMissingError,
  ConfigOptionError,
  ConfigResolveError,
  ConfigSyntaxError,
  ConfigTypeError,
} from './config-error.js'
export type { ConfigFormat, IncludedText, IncludeKind, IncludeReader, IncludeRequest } from './include-source.js'
export type { ConfigLimits } from './limits.js'
export { type LoadOptions, loadConfig } from './load-config.js'
export { type ParseOptions, parseHocon } from './parse-hocon.js'
export type { Environment } from './resolver.js'
export type { Origin } from './syntax-tree.js'
