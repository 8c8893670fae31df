import { ConfigError, ConfigIncludeError, ConfigLimitError, ConfigSyntaxError } from './config-error.js'
import type { IncludedText, IncludeReader, IncludeRequest } from './include-source.js'
import { type Limits, withinStack } from './limits.js'
import { type IncludeLoader, Parser } from './parser.js'
import { parseProperties } from './properties.js'
import type { Document, Origin, Statement } from './syntax-tree.js'

/** Parses texts and the texts that they include. */
export class DocumentReader {
  readonly #limits: Limits
  readonly #readInclude: IncludeReader
  /** The ids of the texts being read, from the outermost to the innermost include. */
  readonly #within: string[] = []
  #included = 0

  constructor(limits: Limits, readInclude: IncludeReader) {
    this.#limits = limits
    this.#readInclude = readInclude
  }

  read({ id, text, format }: IncludedText): Document {
    this.#within.push(id)
    try {
      return { source: id, statements: withinStack('the text', id, () => this.#parse(text, id, format)) }
    } finally {
      this.#within.pop()
    }
  }

  #parse(text: string, source: string, format: IncludedText['format']): readonly Statement[] {
    if (format === 'properties') return parseProperties(text, source)
    const statements = new Parser(text, source, this.#limits, this.#include).parse()
    // JSON has the same meaning in HOCON. Other HOCON syntax in a `.json` file would break other readers of the file.
    if (format === 'json') checkJson(text, source)
    return statements
  }

  readonly #include: IncludeLoader = (request, required, origin) => {
    const texts = this.#bring(request, origin)
    if (required && texts.length === 0) {
      throw new ConfigIncludeError(`'${request.name}' is required but does not exist`, origin)
    }
    return texts.map((text) => {
      this.#included += 1
      const { maxIncludes, maxDepth } = this.#limits
      if (this.#within.includes(text.id)) {
        throw new ConfigIncludeError(
          `the includes form a cycle: ${[...this.#within, text.id].join(' includes ')}`,
          origin,
        )
      }
      if (this.#included > maxIncludes || this.#within.length > maxDepth) {
        throw new ConfigLimitError(
          `the includes exceed maxIncludes (${maxIncludes}) or are nested deeper than maxDepth (${maxDepth})`,
          origin,
        )
      }
      return this.read(text)
    })
  }

  #bring(request: IncludeRequest, origin: Origin): readonly IncludedText[] {
    try {
      return this.#readInclude(request)
    } catch (error) {
      if (error instanceof ConfigError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new ConfigIncludeError(`'${request.name}' cannot be included: ${reason}`, origin, error)
    }
  }
}

function checkJson(text: string, source: string): void {
  try {
    JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const before = text.slice(0, Number(/position (\d+)/.exec(message)?.[1] ?? 0)).split('\n')
    const origin = { source, line: before.length, column: (before.at(-1)?.length ?? 0) + 1 }
    throw new ConfigSyntaxError(`a .json file must contain JSON: ${message}`, origin, error)
  }
}
