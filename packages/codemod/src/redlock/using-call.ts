import ts from 'typescript'
import type { TextEdit } from '../text-edit.js'
import { type Change, refuseComments } from './change.js'
import type { MethodCall } from './instances.js'
import { leaseText } from './lease-text.js'
import type { Names } from './names.js'
import { NotSure } from './not-sure.js'
import { type RetrySettings, retrySettingsOf, waitFor } from './retry-settings.js'

type Routine = ts.ArrowFunction | ts.FunctionExpression

/** `redlock.using(resources, duration, settings, routine)` becomes `createLease(…).run(routine, { wait })`. Throws a `NotSure`. */
export function changeUsing({ call, receiver }: MethodCall, retries: RetrySettings, names: Names): Change {
  const file = call.getSourceFile()
  const { arguments: parts } = call
  const [resources, duration] = parts
  const routine = parts.at(-1)
  if (parts.some(ts.isSpreadElement) || resources === undefined || duration === undefined || routine === undefined)
    throw new NotSure(call, 'the arguments are not all written here: change this call by hand')
  if (parts.length < 3 || parts.length > 4 || !isRoutine(routine))
    throw new NotSure(
      call,
      'the routine is not written in this call: call createLease(…).run(({ signal }) => routine(signal)), and read signal.reason in it, where it reads signal.error',
    )
  const wait = waitText(parts.length === 4 ? parts[2] : undefined, retries, call)
  const lease = leaseText(receiver, resources, duration)
  const opened = call.typeArguments === undefined ? call.expression.end : call.typeArguments.end
  const open = file.text.indexOf('(', opened) + 1
  const [routineStart, close] = [routine.getStart(), call.end - 1]
  refuseComments(file, call.expression.getStart(), routineStart, call)
  refuseComments(file, routine.end, close, call)
  return {
    file,
    imports: lease.imports,
    edits: [
      { start: call.expression.getStart(), end: call.expression.end, text: `${lease.text}.run` },
      { start: open, end: routineStart, text: '' },
      ...signalEdits(routine, names),
      { start: routine.end, end: close, text: wait === '' ? '' : `, ${wait}` },
    ],
  }
}

/** The options of `run` or `acquire` that wait as long as redlock retries. Throws a `NotSure`. */
export function waitText(settings: ts.Expression | undefined, retries: RetrySettings, call: ts.Node): string {
  const merged = retrySettingsOf(settings, retries)
  const wait = merged === undefined ? undefined : waitFor(merged)
  if (wait === undefined)
    throw new NotSure(
      settings ?? call,
      'it is not visible for how long this call retries: write retryCount and retryDelay as numbers in this call, and run this again',
    )
  return wait
}

function isRoutine(node: ts.Expression): node is Routine {
  return ts.isArrowFunction(node) || (ts.isFunctionExpression(node) && node.asteriskToken === undefined)
}

function signalEdits(routine: Routine, names: Names): TextEdit[] {
  const [parameter, more] = routine.parameters
  if (parameter === undefined) return []
  const { name, type } = parameter
  if (more !== undefined || !ts.isIdentifier(name) || parameter.initializer !== undefined || parameter.dotDotDotToken)
    throw new NotSure(
      routine,
      'the routine takes its signal in an unusual way: take it as ({ signal }) from createLease(…).run',
    )
  if (type !== undefined && !/^(RedlockAbortSignal|AbortSignal)$/.test(type.getText()))
    throw new NotSure(type, 'the signal has an unknown type here: take it as ({ signal }) from createLease(…).run')
  const pattern = name.text === 'signal' ? '{ signal }' : `{ signal: ${name.text} }`
  const hasParenthesis = routine
    .getText()
    .slice(0, parameter.getStart() - routine.getStart())
    .includes('(')
  const edit = { start: parameter.getStart(), end: parameter.end, text: hasParenthesis ? pattern : `(${pattern})` }
  const symbol = names.symbolOf(name)
  const references = symbol === undefined ? [] : names.referencesTo(symbol).filter((reference) => reference !== name)
  return [edit, ...references.flatMap((reference) => reasonEdit(reference))]
}

/** Redlock sets `signal.error`; an `AbortSignal` has the error as its `reason`. */
function reasonEdit({ parent }: ts.MemberName): TextEdit[] {
  if (!ts.isPropertyAccessExpression(parent) || parent.name.text !== 'error') return []
  return [{ start: parent.name.getStart(), end: parent.name.end, text: 'reason' }]
}
