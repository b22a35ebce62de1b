/** The worker that has the shelf: one call after another, so that pieces of a save come in order. */
import type { CallName, Calls, Request, Response } from './protocol';
import { Store } from './store';

type Handlers = { [C in CallName]: (args: Calls[C]['args']) => Promise<Calls[C]['result']> };

const store = new Store();

async function nothing(work: Promise<void> | void): Promise<null> {
    await work;
    return null;
}

const handlers: Handlers = {
    list: () => store.list(),
    text: ({ id, text, keep }) => store.text(id, text, keep),
    begin: ({ id }) => nothing(store.begin(id)),
    write: (chunk) => nothing(store.write(chunk)),
    commit: ({ record, curve }) => store.commit(record, curve),
    abort: () => nothing(store.abort()),
    read: ({ id }) => store.read(id),
    model: ({ id }) => store.model(id),
    rename: ({ id, name }) => nothing(store.rename(id, name)),
    discard: ({ id, gone }) => nothing(store.discard(id, gone)),
    sweep: () => nothing(store.sweep()),
};

async function answer({ id, call, args }: Request): Promise<Response> {
    try {
        return { id, result: await (handlers[call] as (args: unknown) => Promise<unknown>)(args) };
    } catch (error) {
        const { name, message } = error as DOMException;
        return { id, failure: { full: name === 'QuotaExceededError', message } };
    }
}

let last: Promise<void> = Promise.resolve();
self.addEventListener('message', (event: MessageEvent<Request>) => {
    last = last.then(async () => self.postMessage(await answer(event.data)));
});
