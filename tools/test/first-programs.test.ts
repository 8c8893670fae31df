import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'
import { codeBlocks } from '../docs/code-block.js'
import { markdownFiles } from '../docs/markdown-files.js'
import { shown } from '../workspaces.js'

/** What a reader follows from the top. */
const SECTIONS = /^docs\/(start|guides|recipes|actors)\//

/** Names that no import and no declaration of the program explains: "cannot find name", and the like. */
const UNKNOWN_NAMES = new Set([2304, 2552, 18004])

const programs = markdownFiles()
  .map((file) => ({
    page: shown(file),
    first: codeBlocks(readFileSync(file, 'utf8')).find(({ language }) => /^[jt]s$/.test(language)),
  }))
  .flatMap(({ page, first }) => (SECTIONS.test(page) && first !== undefined ? [{ page, code: first.code }] : []))

/** The names of a program that it neither imports nor declares. */
function unknownNames(code: string): string[] {
  const name = 'program.ts'
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
  const host = ts.createCompilerHost(options)
  const { getSourceFile } = host
  host.getSourceFile = (file, ...rest) =>
    basename(file) === name
      ? // Those of Node are there without an import.
        ts.createSourceFile(file, `declare const process: any\n${code}`, ts.ScriptTarget.ES2023)
      : getSourceFile.call(host, file, ...rest)
  const program = ts.createProgram([name], options, host)
  return ts
    .getPreEmitDiagnostics(program)
    .filter((found) => UNKNOWN_NAMES.has(found.code))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))
}

describe.each(programs)('the first program of $page', ({ code }) => {
  it('imports or declares every name that it uses, so that it runs as it is', () => {
    expect(unknownNames(code)).toEqual([])
    expect(code).not.toMatch(/from '\.\.?\//)
  })
})

it('finds the programs', () => {
  expect(programs.length).toBeGreaterThan(20)
})
