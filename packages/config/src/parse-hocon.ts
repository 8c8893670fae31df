import { Config } from './config.js'
import { ConfigOptionError } from './config-error.js'
import { DocumentReader } from './document-reader.js'
import { type ConfigFormat, fileReader, type IncludeReader } from './include-source.js'
import { type ConfigLimits, limitsOf } from './limits.js'
import { checkOptionNames } from './option-names.js'
import type { Environment } from './resolver.js'

export interface ParseOptions {
  /** The name of the text in errors. Default: `text`. If it is the absolute path of a file, includes are relative to it. */
  readonly source?: string | undefined
  /** The format of the text. Default: `conf` (HOCON). */
  readonly format?: ConfigFormat | undefined
  /** The fallback for substitutions without a value. Default: `process.env`. */
  readonly env?: Environment | undefined
  /** The folders that `include classpath("…")` searches. Default: none. */
  readonly classpath?: readonly string[] | undefined
  /** Reads included texts. Default: reads files. */
  readonly readInclude?: IncludeReader | undefined
  readonly limits?: ConfigLimits | undefined
}

/**
 * Parses HOCON. Throws a `ConfigSyntaxError`, a `ConfigIncludeError` or a `ConfigLimitError` with the position in the text,
 * and a `ConfigOptionError` for an unknown or invalid option. Substitutions are resolved when the configuration is first
 * used. The text cannot run code.
 */
export function parseHocon(text: string, options: ParseOptions = {}): Config {
  if (typeof text !== 'string') throw new ConfigOptionError(`a text must be a string, not ${typeof text}`)
  checkOptionNames<ParseOptions>('parseHocon', options, {
    source: true,
    format: true,
    env: true,
    classpath: true,
    readInclude: true,
    limits: true,
  })
  const {
    source = 'text',
    format = 'conf',
    env = process.env,
    classpath,
    readInclude = fileReader(classpath),
  } = options
  const limits = limitsOf(options.limits)
  const document = new DocumentReader(limits, readInclude).read({ id: source, text, format })
  return new Config({ documents: [document], limits, env, path: [] })
}
