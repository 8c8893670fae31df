import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { codeBlocks } from '../docs/code-block.js'
import { markdownFiles } from '../docs/markdown-files.js'
import { shown } from '../workspaces.js'

/** What a reader follows from the top. The page of the playground shows a part of it. */
const SECTIONS = /^docs\/(start(?!\/playground\.md)|guides|recipes|actors|stores|operating)\//

/** Names that no import and no declaration of the program explains: "cannot find name", and the like. */
const UNKNOWN_NAMES = new Set([2304, 2552, 18004])

const programs = markdownFiles()
  .map((file) => ({
    page: shown(file),
    first: codeBlocks(readFileSync(file, 'utf8')).find(({ language }) => /^[jt]s$/.test(language)),
  }))
  .flatMap(({ page, first }) => (SECTIONS.test(page) && first !== undefined ? [{ page, code: first.code }] : []))

/** For each program, the names that it neither imports nor declares. All in one compilation: the libraries are read once. */
function unknownNames(codes: readonly string[]): string[][] {
  const options: ts.CompilerOptions = {
    noResolve: true,
    noEmit: true,
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.esnext.d.ts', 'lib.dom.d.ts'],
    module: ts.ModuleKind.ESNext,
    moduleDetection: ts.ModuleDetectionKind.Force,
    experimentalDecorators: true,
    types: [],
  }
  const files = new Map(codes.map((code, index) => [`program-${index}.ts`, code]))
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, ...rest) => {
    const code = files.get(basename(file))
    if (code === undefined) return getSourceFile.call(host, file, ...rest)
    // These names are there in Node without an import.
    return ts.createSourceFile(
      file,
      `declare const process: any\ndeclare const require: any\n${code}`,
      ts.ScriptTarget.ES2023,
    )
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files.keys()].map((file) =>
    program
      .getSemanticDiagnostics(program.getSourceFile(file))
      .filter(({ code }) => UNKNOWN_NAMES.has(code))
      .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n')),
  )
}

describe('the first program of a page', () => {
  it('imports or declares every name that it uses, so that it runs as it is', () => {
    const unknown = unknownNames(programs.map(({ code }) => code))
    const faults = programs.flatMap(({ page, code }, index) => [
      ...(unknown[index] ?? []).map((fault) => `${page}: ${fault}`),
      ...(/from '\.\.?\//.test(code) ? [`${page}: it imports a file that the reader does not have`] : []),
    ])
    expect(faults).toEqual([])
  })

  it('is found on most pages', () => {
    expect(programs.length).toBeGreaterThan(20)
  })
}, 60_000)
