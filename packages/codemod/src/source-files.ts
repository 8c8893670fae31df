import { type Dirent, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join, resolve } from 'node:path'
import ts from 'typescript'
import { UsageError } from './usage-error.js'

const extensions = new Set(['.js', '.jsx', '.mjs', '.cjs', '.ts', '.tsx', '.mts', '.cts'])

/**
 * The JavaScript and TypeScript files in these folders, without `node_modules`, hidden folders and declarations. A path can
 * be a file, too. Throws a `UsageError` for a path that does not exist.
 */
export function findSourceFiles(paths: readonly string[]): string[] {
  const files = new Set<string>()
  for (const path of paths) {
    const status = statSync(path, { throwIfNoEntry: false })
    if (status === undefined) throw new UsageError(`${path} does not exist: give a folder with source files`)
    if (status.isDirectory()) for (const file of filesIn(resolve(path))) files.add(file)
    else if (extensions.has(extname(path))) files.add(resolve(path))
    else throw new UsageError(`${path} is no JavaScript or TypeScript file: give a folder with source files`)
  }
  return [...files].sort()
}

function* filesIn(folder: string): Generator<string> {
  for (const entry of entriesOf(folder)) {
    if (entry.name === 'node_modules' || entry.name.startsWith('.')) continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) yield* filesIn(path)
    else if (entry.isFile() && extensions.has(extname(path)) && !/\.d\.[cm]?ts$/.test(path)) yield path
  }
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new UsageError(`${folder} cannot be read (${reason}): give a folder that this user can read`)
  }
}

/**
 * Parses the files and binds their names. Imports are followed between these files only: neither the installed packages nor
 * a tsconfig change the result.
 */
export function parse(files: readonly string[]): ts.Program {
  const options: ts.CompilerOptions = {
    allowJs: true,
    checkJs: false,
    noLib: true,
    types: [],
    noEmit: true,
    allowImportingTsExtensions: true,
    experimentalDecorators: true,
    target: ts.ScriptTarget.Latest,
    module: ts.ModuleKind.ESNext,
    moduleResolution: ts.ModuleResolutionKind.Bundler,
    jsx: ts.JsxEmit.Preserve,
  }
  const given = new Set(files)
  const host = ts.createCompilerHost(options, true)
  host.resolveModuleNameLiterals = (literals, containingFile) =>
    literals.map(({ text }) => {
      if (!text.startsWith('.')) return { resolvedModule: undefined }
      const { resolvedModule } = ts.resolveModuleName(text, containingFile, options, host)
      const known = resolvedModule !== undefined && given.has(resolve(resolvedModule.resolvedFileName))
      return { resolvedModule: known ? resolvedModule : undefined }
    })
  host.readFile = (file) => (given.has(resolve(file)) || file.endsWith('package.json') ? textOf(file) : undefined)
  return ts.createProgram({ rootNames: files, options, host })
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
