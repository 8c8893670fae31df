import { readFileSync } from 'node:fs'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { IncludeKind } from './include-statement.js'

/** The languages that a configuration may be written in. */
export type ConfigFormat = 'conf' | 'json' | 'properties'

/** What an include statement asks for. */
export interface IncludeRequest {
  readonly kind: IncludeKind
  /** As it is written. */
  readonly name: string
  /** The `id` of the text with the statement. */
  readonly from: string | undefined
}

/** A text to be included. */
export interface IncludedText {
  /** What tells it apart from others, and what errors name: the path of a file. */
  readonly id: string
  readonly text: string
  readonly format: ConfigFormat
}

/** Brings what an include statement asks for, in the order in which it is merged; nothing where there is none. */
export type IncludeReader = (request: IncludeRequest) => readonly IncludedText[]

/** In the order in which they are merged: what is written in HOCON wins. */
const formats: readonly ConfigFormat[] = ['properties', 'json', 'conf']

/** The language of a file by its name; HOCON unless it says otherwise. */
function formatOf(file: string): ConfigFormat {
  return formats.find((format) => file.endsWith(`.${format}`)) ?? 'conf'
}

/**
 * Reads includes from files: `file()` and absolute names as they are, bare names beside the file with the statement,
 * `classpath()`, and bare names that are not found, in each of the folders given, and `url()` where it is a `file:` one.
 * A name without an extension stands for all three.
 */
export function fileReader(folders: readonly string[] = []): IncludeReader {
  const inFolders = (name: string): IncludedText[] =>
    folders.flatMap((folder) => probe(join(folder, name.replace(/^\/+/, ''))))
  return ({ kind, name, from }) => {
    if (kind === 'url' || (kind === 'heuristic' && /^[a-z][a-z\d+.-]+:\/\//i.test(name))) return readUrl(name)
    if (kind === 'file') return probe(resolve(name))
    if (kind === 'classpath') return inFolders(name)
    const adjacent = isAbsolute(name)
      ? name
      : from !== undefined && isAbsolute(from)
        ? join(dirname(from), name)
        : undefined
    const found = adjacent === undefined ? [] : probe(adjacent)
    return found.length > 0 ? found : inFolders(name)
  }
}

/** A file, or the files of a name without an extension. */
export function probe(path: string): IncludedText[] {
  const files = formats.some((format) => path.endsWith(`.${format}`))
    ? [path]
    : formats.map((format) => `${path}.${format}`)
  return files.flatMap((file) => {
    const text = readText(file)
    return text === undefined ? [] : [{ id: file, text, format: formatOf(file) }]
  })
}

function readUrl(name: string): IncludedText[] {
  const url = new URL(name)
  if (url.protocol !== 'file:') throw new Error(`only file: URLs can be included, not ${url.protocol}`)
  const file = fileURLToPath(url)
  const text = readText(file)
  return text === undefined ? [] : [{ id: file, text, format: formatOf(pathToFileURL(file).pathname) }]
}

/** `undefined` where there is no such file; other failures are the user's to know. */
function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EISDIR') return undefined
    throw error
  }
}
