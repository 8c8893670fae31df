import { readFileSync } from 'node:fs'
import ts from 'typescript'
import type { Leftover } from '../leftover.js'
import { findSourceFiles, parse } from '../source-files.js'
import { applyEdits, type ChangedLines, changedLines, type TextEdit } from '../text-edit.js'
import { changeAcquire, isReleaseOfLock } from './acquire-call.js'
import { type Change, type ImportedName, isWithin } from './change.js'
import { changeCreation, retriesOf } from './creation.js'
import { errorListener } from './error-listener.js'
import { importEdits, refuseTakenNames, removalOf } from './import-edits.js'
import { Instances, type MethodCall, type SharedInstance } from './instances.js'
import { Names } from './names.js'
import { NotSure } from './not-sure.js'
import { importedSymbols, type RedlockImport, redlockImports } from './redlock-imports.js'
import type { RetrySettings } from './retry-settings.js'
import { type StrayUse, strayErrorNames, straySignalErrors, strayUses } from './stray-code.js'
import { changeUsing } from './using-call.js'

/** A file with its new text. */
export interface ChangedFile {
  readonly file: string
  readonly text: string
  readonly lines: readonly ChangedLines[]
}

/** What became of code that uses redlock. */
export interface RedlockChanges {
  readonly changed: readonly ChangedFile[]
  readonly leftovers: readonly Leftover[]
}

/**
 * Changes the code in these folders from redlock 4 or 5 to Leasehold where it is sure, and lists the rest. It writes nothing.
 * Code that shares an instance of redlock is changed together or not at all: a lock of redlock and a lease do not exclude each
 * other.
 *
 * @throws UsageError if a path does not exist.
 */
export function changeRedlock(paths: readonly string[]): RedlockChanges {
  const sources = findSourceFiles(paths)
  // Without that word in any file there is nothing to follow, and parsing takes most of the time.
  if (!sources.some((file) => /redlock/i.test(readFileSync(file, 'utf8')))) return { changed: [], leftovers: [] }
  const program = parse(sources)
  const files = program
    .getRootFileNames()
    .map((name) => program.getSourceFile(name))
    .filter((file) => file !== undefined)
  const isBroken = (file: ts.SourceFile): boolean => program.getSyntacticDiagnostics(file).length > 0
  const broken = files.filter(isBroken)
  const change = new RedlockChange(
    program,
    files.filter((file) => !broken.includes(file)),
  )
  const unparsed = broken.map((file) => {
    const [first] = program.getSyntacticDiagnostics(file)
    const reason = first === undefined ? '' : ts.flattenDiagnosticMessageText(first.messageText, ' ')
    return {
      ...placeOf(file, first?.start ?? 0),
      sentence: `the file cannot be parsed (${reason}): mend it, and run this again`,
    }
  })
  return { changed: change.changed(), leftovers: inOrder([...unparsed, ...change.leftovers()]) }
}

class RedlockChange {
  readonly #names: Names
  readonly #imports = new Map<ts.SourceFile, readonly RedlockImport[]>()
  readonly #changes: Change[] = []
  readonly #doubts = new Map<ts.Node, NotSure>()
  readonly #others: ReadonlySet<ts.Symbol>

  constructor(program: ts.Program, files: readonly ts.SourceFile[]) {
    this.#names = new Names(program, files)
    for (const file of files) this.#imports.set(file, redlockImports(file))
    const { classes, others } = importedSymbols([...this.#imports.values()].flat(), this.#names)
    this.#others = others
    const instances = new Instances(this.#names, classes)
    const shared = instances.shared()
    const known = {
      calls: new Set(shared.flatMap(({ calls }) => calls.map(({ call }) => call))),
      names: new Set(shared.flatMap(({ names }) => [...names])),
      isFollowed: (name: ts.Node) => instances.isFollowed(name),
    }
    const stray = files.flatMap((file) => strayUses(file, known))
    for (const use of instances.strayUses)
      this.#note(new NotSure(use, 'the class of redlock is used in another way here: change this by hand'))
    for (const { doubt } of stray) this.#note(doubt)
    for (const instance of shared) this.#changeTogether(instance, instances.strayUses, stray)
    if (this.#changes.length > 0) for (const file of files) this.#noteSignalErrors(file)
  }

  /** The error of a signal that is read in a function of its own, which may be called with the signal of a lease now. */
  #noteSignalErrors(file: ts.SourceFile): void {
    const edits = this.#changes.filter((change) => change.file === file).flatMap((change) => change.edits)
    for (const doubt of straySignalErrors(file)) if (!isEdited(doubt.node.name, edits)) this.#note(doubt.doubt)
  }

  changed(): ChangedFile[] {
    return [...this.#imports.keys()].flatMap((file) => {
      const changes = this.#changes.filter((change) => change.file === file)
      if (changes.length === 0) return []
      const edits = [...changes.flatMap((change) => change.edits)]
      const needed = new Set(changes.flatMap((change) => change.imports))
      edits.push(...importEdits(file, needed, this.#unusedImports(file, edits)))
      return [{ file: file.fileName, text: applyEdits(file.text, edits), lines: changedLines(file.text, edits) }]
    })
  }

  leftovers(): Leftover[] {
    return [...this.#doubts.values()].map(({ node, sentence }) => ({
      ...placeOf(node.getSourceFile(), node.getStart()),
      sentence,
    }))
  }

  #note(doubt: NotSure): void {
    if (!this.#doubts.has(doubt.node)) this.#doubts.set(doubt.node, doubt)
  }

  #changeTogether(instance: SharedInstance, strayUses: readonly ts.Node[], stray: readonly StrayUse[]): void {
    const changes: Change[] = []
    const doubts = [...instance.doubts]
    const attempt = (part: () => Change): void => {
      try {
        changes.push(part())
      } catch (error) {
        if (!(error instanceof NotSure)) throw error
        doubts.push(error)
      }
    }
    const retries = commonRetries(instance.creations)
    for (const creation of instance.creations) attempt(() => changeCreation(creation))
    for (const type of instance.types) attempt(() => changeType(type))
    const removed: ts.Node[] = []
    for (const call of instance.calls)
      if (!isReleaseOfLock(call)) attempt(() => this.#changeCall(call, retries, removed))
    doubts.push(...this.#doubtsAboutNames(instance, changes, removed), ...untouchedReleases(instance, changes))
    const files = new Set(changes.map(({ file }) => file))
    const holdsBack =
      // Where the class is a token of a framework, the parameters that it fills have to keep their type.
      strayUses.some((node) => files.has(node.getSourceFile()) || instance.open.length > 0) ||
      stray.some(({ name }) => instance.names.has(name))
    for (const doubt of doubts) this.#note(doubt)
    if (doubts.length > 0 || holdsBack) return
    this.#changes.push(...changes)
    if (instance.creations.length > 0) return
    for (const parameter of instance.open)
      this.#note(
        new NotSure(
          parameter,
          'no code in these files gives a lease store to this parameter: give it a RedisLeaseStore of @leasehold/redis where the object is made',
        ),
      )
  }

  #changeCall(use: MethodCall, retries: RetrySettings, removed: ts.Node[]): Change {
    const { method, call } = use
    if (method === 'using') return changeUsing(use, retries, this.#names)
    if (method === 'acquire' || method === 'lock') return changeAcquire(use, retries, this.#names)
    if (method === 'extend')
      throw new NotSure(call, 'a lease renews itself, so extend is not needed: delete this call, and run this again')
    if (method === 'quit')
      throw new NotSure(
        call,
        'quit ends the connections of your client: call close() of the lease store, then quit() of your client',
      )
    const statement = errorListener(use)
    removed.push(statement)
    return { file: call.getSourceFile(), imports: [], edits: [removalOf(statement)] }
  }

  /** Errors and types of redlock in the files of an instance, and names that the new code needs. */
  #doubtsAboutNames(instance: SharedInstance, changes: readonly Change[], removed: readonly ts.Node[]): NotSure[] {
    const doubts: NotSure[] = []
    const nodes = [...instance.creations, ...instance.types, ...instance.calls.map(({ call }) => call)]
    for (const file of new Set(nodes.map((node) => node.getSourceFile()))) {
      const mine = changes.filter((change) => change.file === file)
      const edits = mine.flatMap((change) => change.edits)
      for (const name of this.#usesOfOthers(file))
        if (!isEdited(name, edits))
          doubts.push(
            new NotSure(
              name,
              `${name.text} is redlock's: a lease rejects with LeaseHeldError, LeaseLostError or LeaseUnavailableError, so change this by hand`,
            ),
          )
      doubts.push(
        ...strayErrorNames(file).filter(({ node }) => !removed.some((statement) => isWithin(node, statement))),
      )
      try {
        refuseTakenNames(
          file,
          mine.flatMap((change) => change.imports),
          nodes.find((node) => node.getSourceFile() === file) ?? file,
        )
      } catch (error) {
        doubts.push(error as NotSure)
      }
    }
    return doubts
  }

  #usesOfOthers(file: ts.SourceFile): ts.MemberName[] {
    const imports = this.#imports.get(file) ?? []
    return [...this.#others]
      .flatMap((symbol) => this.#names.referencesTo(symbol))
      .filter((name) => name.getSourceFile() === file && !imports.some(({ statement }) => isWithin(name, statement)))
  }

  #unusedImports(file: ts.SourceFile, edits: readonly TextEdit[]): RedlockImport[] {
    return (this.#imports.get(file) ?? []).filter(({ statement, classes, others }) =>
      [...classes, ...others].every((imported) => {
        const symbol = this.#names.symbolOf(imported)
        const references = symbol === undefined ? [] : this.#names.referencesTo(symbol)
        return references.every(
          (name) => name.getSourceFile() !== file || isWithin(name, statement) || isEdited(name, edits),
        )
      }),
    )
  }
}

function changeType(type: ts.TypeReferenceNode): Change {
  // A framework injects by class: there, the type has to be one.
  const owner = ts.findAncestor(type, ts.isClassLike)
  const isInjected =
    (owner !== undefined && ts.canHaveDecorators(owner) && (ts.getDecorators(owner) ?? []).length > 0) ||
    (ts.canHaveDecorators(type.parent) && (ts.getDecorators(type.parent) ?? []).length > 0)
  const name: ImportedName = isInjected ? 'RedisLeaseStore' : 'LeaseStore'
  return {
    file: type.getSourceFile(),
    imports: [name],
    edits: [{ start: type.getStart(), end: type.end, text: name }],
  }
}

/** The settings of all instances, where they are the same. */
function commonRetries(creations: readonly ts.NewExpression[]): RetrySettings {
  const [first, ...others] = creations.map(retriesOf)
  const isCommon = (retries: RetrySettings): boolean =>
    retries.retryCount === first?.retryCount && retries.retryDelay === first?.retryDelay
  return first !== undefined && others.every(isCommon) ? first : { retryCount: undefined, retryDelay: undefined }
}

/** Releases of locks that no change has covered. */
function untouchedReleases({ calls }: SharedInstance, changes: readonly Change[]): NotSure[] {
  return calls
    .filter(isReleaseOfLock)
    .filter(({ call }) => !changes.some(({ file, edits }) => file === call.getSourceFile() && isEdited(call, edits)))
    .map(({ call }) => new NotSure(call, 'it is not visible which lock is released here: use createLease(…).run'))
}

function isEdited(node: ts.Node, edits: readonly TextEdit[]): boolean {
  return edits.some(({ start, end }) => start <= node.getStart() && node.end <= end)
}

function placeOf(file: ts.SourceFile, position: number): { readonly file: string; readonly line: number } {
  return { file: file.fileName, line: file.getLineAndCharacterOfPosition(position).line + 1 }
}

function inOrder(leftovers: readonly Leftover[]): Leftover[] {
  return [...leftovers].sort((a, b) => (a.file === b.file ? a.line - b.line : a.file < b.file ? -1 : 1))
}
