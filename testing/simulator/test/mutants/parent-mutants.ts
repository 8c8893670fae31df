import type { Mutant } from './mutant.js'

/** Each rule of parents and children, broken. */
export const parentMutants: readonly Mutant[] = [
  {
    name: 'the validity of a child does not depend on its parent until a timer has run',
    edits: [
      {
        file: 'store-lease/store-lease.ts',
        find: 'return this.#family === undefined || this.#family.cover > 0',
        replace: 'return true',
      },
    ],
    caughtBy: {
      law: 'parents: after a pause in which its parent expired a child is not valid, before any timer has run',
    },
  },
  {
    name: 'a child is not notified of the loss of its parent',
    edits: [{ file: 'store-lease/store-lease.ts', find: '    this.#family?.lose()\n', replace: '' }],
    caughtBy: { law: 'parents: a child is notified of the loss of its parent before the parent is' },
  },
  {
    name: 'a grant counts although the parent was lost while it was asked for',
    edits: [
      {
        file: 'engine/from-acquiring.ts',
        find: '  if (context.isParentLost) return giveBack(state, context)\n',
        replace: '',
      },
      {
        file: 'engine/lease-engine.ts',
        find: '    this.#rejectAll(parentLost(this.rules))\n',
        replace: '',
      },
    ],
    caughtBy: { law: 'parents: a grant that arrives after the end of the parent does not count, and is given back' },
  },
  {
    name: 'a parent is freed before its children',
    edits: [
      {
        file: 'store-lease/departure.ts',
        find: 'this.#dispatch(hasChildren ? { ...how, hasChildren } : how)',
        replace: 'this.#dispatch(how)',
      },
    ],
    caughtBy: { law: 'parents: a release of the parent waits for the releases of its children' },
  },
  {
    name: 'a child is acquired without its parent',
    edits: [
      {
        file: 'parent/parent-link.ts',
        find: 'return this.parent.current() === undefined ? Promise.reject(this.#notHeld()) : undefined',
        replace: 'return undefined',
      },
      { file: 'engine/transition.ts', find: '  if (context.isParentLost) {', replace: '  if (context.now < 0) {' },
      {
        file: 'engine/from-acquiring.ts',
        find: '  if (context.isParentLost) return giveBack(state, context)\n',
        replace: '',
      },
    ],
    caughtBy: { law: 'parents: a child is not acquired while its parent is not held' },
  },
  {
    name: 'a release of a parent does not wait for the children in other processes',
    edits: [{ file: 'parent/child-grace.ts', find: 'const left = at - this.#clock.now()', replace: 'const left = 0' }],
    caughtBy: { check: ['broken-rule'], under: 'families' },
  },
  {
    name: 'the bound of a child in another process ignores when the parent expires',
    edits: [
      {
        file: 'parent/watched-parent.ts',
        find: 'Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl, grace)',
        replace: 'Math.min(ttl, grace)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'families' },
  },
  {
    name: 'the bound of a child in another process ignores the grace',
    edits: [
      {
        file: 'parent/watched-parent.ts',
        find: 'Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl, grace)',
        replace: 'Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'families' },
  },
  {
    name: 'the bound of a child in another process counts from the answer',
    edits: [
      {
        file: 'parent/watched-parent.ts',
        find: 'const until = sentAt + this.#certain(record)',
        replace: 'const until = Math.max(sentAt, clock.now()) + this.#certain(record)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'families' },
  },
  {
    name: 'a parent that is being broken is freed by its release, before its children in other processes have ended',
    edits: [
      {
        file: 'parent/child-grace.ts',
        find: '    const holder = outcome?.holder\n',
        replace:
          '    const holder = outcome?.holder\n    if (holder?.grantId === grantId) return await this.#store.release(grant, call, metadata)\n',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'broken-families' },
  },
  {
    name: 'a child in another process goes on under the next grant of the same owner, after a break',
    edits: [
      {
        file: 'parent/watched-parent.ts',
        find: '    if (this.#current?.isOf(record) === false) this.#end()\n',
        replace: '',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'broken-families' },
  },
  {
    name: 'a parent with children in other processes can be handed off',
    edits: [
      {
        file: 'store-lease/hand-off.ts',
        find: '  if (childGrace !== undefined) {',
        replace: "  if (childGrace !== undefined && name === '') {",
      },
      {
        file: 'parent/child-grace.ts',
        find: '    change: () => undefined,\n',
        replace: '',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'handed-families' },
  },
  {
    name: 'a declaration of a grace counts for a later grant, which keeps the metadata',
    edits: [
      {
        file: 'parent/child-grace.ts',
        find: "if (declarer !== grantId || grantId === '') return undefined",
        replace: 'if (declarer === undefined) return undefined',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'handed-families' },
  },
  {
    name: 'a parent that declares no grace is watched as if it waited for a ttl',
    edits: [
      {
        file: 'parent/watched-parent.ts',
        find: '    if (grace === undefined) throw this.#undeclared()\n',
        replace: '',
      },
      {
        file: 'parent/watched-parent.ts',
        find: 'Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl, grace)',
        replace: 'Math.min(remaining - SHARED_CLOCK_DIFFERENCE, ttl, grace ?? ttl)',
      },
    ],
    caughtBy: { check: ['broken-rule'], under: 'handed-families' },
  },
]
