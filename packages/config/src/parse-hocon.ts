import { Config } from './config.js'
import { ConfigOptionError } from './config-error.js'
import { DocumentReader } from './document-reader.js'
import { type ConfigFormat, fileReader, type IncludeReader } from './include-source.js'
import { type ConfigLimits, limitsOf } from './limits.js'
import type { Environment } from './resolver.js'

export interface ParseOptions {
  /** What errors say the text came from; where it is the absolute path of a file, includes are looked for beside it. */
  readonly source?: string | undefined
  /** `conf`, HOCON, unless given. */
  readonly format?: ConfigFormat | undefined
  /** What substitutions without a value fall back to; `process.env` unless given. */
  readonly env?: Environment | undefined
  /** The folders in which `include classpath("…")` looks. None unless given. */
  readonly classpath?: readonly string[] | undefined
  /** Brings what is included; from files unless given. */
  readonly readInclude?: IncludeReader | undefined
  readonly limits?: ConfigLimits | undefined
}

/**
 * Reads HOCON. Throws a `ConfigSyntaxError`, a `ConfigIncludeError` or a `ConfigLimitError` that says where; what
 * substitutions stand for is looked up when the configuration is first used. Runs nothing that the text says.
 */
export function parseHocon(text: string, options: ParseOptions = {}): Config {
  if (typeof text !== 'string') throw new ConfigOptionError(`a text must be a string, not ${typeof text}`)
  const {
    source = 'text',
    format = 'conf',
    env = process.env,
    classpath,
    readInclude = fileReader(classpath),
  } = options
  const limits = limitsOf(options.limits)
  const document = new DocumentReader({ limits, readInclude }).read({ id: source, text, format })
  return new Config({ documents: [document], limits, env, path: [] })
}
