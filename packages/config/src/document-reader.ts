import { ConfigError, ConfigIncludeError, ConfigLimitError, ConfigSyntaxError } from './config-error.js'
import type { IncludedText, IncludeReader } from './include-source.js'
import type { IncludeStatement } from './include-statement.js'
import { isStackOverflow, type Limits } from './limits.js'
import { Parser } from './parser.js'
import { parseProperties } from './properties.js'
import type { Document, Statement } from './syntax-tree.js'

export interface DocumentReaderOptions {
  readonly limits: Limits
  readonly readInclude: IncludeReader
}

/** Parses texts, and what they include. */
export class DocumentReader {
  readonly #options: DocumentReaderOptions
  /** What is being read, each within the one before. */
  readonly #within: string[] = []
  #included = 0

  constructor(options: DocumentReaderOptions) {
    this.#options = options
  }

  read({ id, text, format }: IncludedText): Document {
    this.#within.push(id)
    try {
      return { source: id, statements: this.#parse(text, id, format) }
    } catch (error) {
      if (!isStackOverflow(error)) throw error
      throw new ConfigLimitError('nested too deep for the stack', { source: id, line: 0, column: 0 })
    } finally {
      this.#within.pop()
    }
  }

  #parse(text: string, source: string, format: IncludedText['format']): readonly Statement[] {
    if (format === 'properties') return parseProperties(text, source)
    const { limits } = this.#options
    const statements = new Parser(text, { source, limits, include: (statement) => this.#include(statement) }).parse()
    // What is JSON means the same in HOCON; what is not, would not be understood by others who read the file.
    if (format === 'json') checkJson(text, source)
    return statements
  }

  #include(statement: IncludeStatement): readonly Document[] {
    const { name, required, origin } = statement
    const texts = this.#bring(statement)
    if (required && texts.length === 0) {
      throw new ConfigIncludeError(`'${name}' is required, and there is no such file`, origin)
    }
    return texts.map((text) => {
      this.#included += 1
      const { maxIncludes, maxDepth } = this.#options.limits
      if (this.#within.includes(text.id)) {
        throw new ConfigIncludeError(`a cycle of includes: ${[...this.#within, text.id].join(' includes ')}`, origin)
      }
      if (this.#included > maxIncludes || this.#within.length > maxDepth) {
        throw new ConfigLimitError(
          `more includes than maxIncludes, ${maxIncludes}, or deeper than maxDepth allows`,
          origin,
        )
      }
      return this.read(text)
    })
  }

  #bring({ kind, name, from, origin }: IncludeStatement): readonly IncludedText[] {
    try {
      return this.#options.readInclude({ kind, name, from })
    } catch (error) {
      if (error instanceof ConfigError) throw error
      const reason = error instanceof Error ? error.message : String(error)
      throw new ConfigIncludeError(`'${name}' cannot be included: ${reason}`, origin, error)
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
    throw new ConfigSyntaxError(`not JSON, as the name of the file says: ${message}`, origin, error)
  }
}
