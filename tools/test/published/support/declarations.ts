import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'
import { COMPILER_OPTIONS } from './installed-project.js'

/**
 * Checks projects that import entries of our packages, and the declarations of our packages in them. A file outside of `parent`,
 * the folder of all projects, is parsed once.
 */
export class DeclarationChecker {
  readonly #options: ts.CompilerOptions
  readonly #host: ts.CompilerHost

  constructor(parent: string) {
    // Declarations of others, such as XState's, have faults with this option: only ours are checked with it.
    const strictest = { ...COMPILER_OPTIONS, exactOptionalPropertyTypes: true, module: 'nodenext', noEmit: true }
    const { options } = ts.convertCompilerOptionsFromJson(strictest, '/')
    this.#options = options
    this.#host = ts.createCompilerHost(options)
    const read = this.#host.getSourceFile
    const parsed = new Map<string, ts.SourceFile | undefined>()
    this.#host.getSourceFile = (file, ...rest) => {
      if (file.startsWith(parent)) return read(file, ...rest)
      if (!parsed.has(file)) parsed.set(file, read(file, ...rest))
      return parsed.get(file)
    }
  }

  /** What is wrong, as `tsc` prints it; an empty text if nothing is. */
  faults(folder: string, entries: readonly string[]): string {
    const main = join(folder, 'main.mts')
    const lines = entries.map((entry, index) => `export * as e${index} from '${entry}'`)
    writeFileSync(main, `${lines.join('\n')}\n`)
    const typeRoots = [join(folder, 'node_modules', '@types')]
    const host = { ...this.#host, getCurrentDirectory: () => folder }
    const program = ts.createProgram([main], { ...this.#options, typeRoots }, host)
    const own = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder))
    const found = [...program.getOptionsDiagnostics(), ...program.getGlobalDiagnostics()]
    for (const file of own)
      found.push(...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file))
    return ts.formatDiagnostics(found, host)
  }
}
