/** A run from the shelf onto the page: its model, curve and samples into the lab, its settings and text into the draft. */
import type { Kept } from '../shelf/protocol';
import type { RunRecord } from '../shelf/record';
import type { Draft } from './draft.svelte';
import { fromRun, inPlainWords } from './knobs';
import { opened, takeOpened } from './last_run';
import type { Lab } from './lab.svelte';
import { builtIn, ofBlob, type Source } from './source';

/** Paused and saved, so that another may take its place. */
async function makeWay(lab: Lab): Promise<void> {
    if (lab.phase === 'training') await lab.pause();
    await lab.keeper.save();
    if (lab.inTheWay) throw new Error('A run is under way here that could not be saved: stop it first.');
}

/** With its text, or what there is to say about that. */
async function readWhole({ keeper }: Lab, id: string): Promise<Kept> {
    const kept = await keeper.shelf.call('read', { id });
    if (!kept.corpus && !kept.record.corpus.builtIn) throw new Error('the text that it learned from is damaged, so it cannot go on. Its model can still be exported');
    return kept;
}

/** Rejects with a sentence; what was on the page is then still there. `adopts`: whether the next run is to be set up like it. */
export async function openRun(lab: Lab, draft: Draft, id: string, adopts = () => true): Promise<void> {
    const { keeper } = lab;
    if (keeper.current?.id === id) return;
    await makeWay(lab);
    const release = await keeper.claim(id);
    const kept = await readWhole(lab, id).catch((error: unknown) => {
        release();
        throw new Error(inPlainWords((error as Error).message));
    });
    await lab.restore(kept, release);
    keeper.told = kept.told.map((what) => `${kept.record.name}: ${what}`);
    if (lab.source && adopts()) await draft.adopt(fromRun(lab.settings), lab.source);
}

/** After a reload: the run that this tab had open. What the visitor has set meanwhile stays. */
export async function openLast(lab: Lab, draft: Draft): Promise<void> {
    const id = takeOpened();
    if (!id || lab.keeper.whyNot) return;
    try {
        await openRun(lab, draft, id, () => !draft.touched);
    } catch (error) {
        lab.keeper.told = [`The run that this tab had open could not be opened again. ${(error as Error).message}`];
        opened(undefined);
    }
}

/** The text that a kept run learned from. */
export async function textOfRun(lab: Lab, { id, corpus }: RunRecord): Promise<Source> {
    if (corpus.builtIn) return builtIn();
    const { corpus: blob } = await lab.keeper.shelf.call('read', { id });
    if (!blob) throw new Error('The text of this run is damaged.');
    return ofBlob(blob, corpus.name);
}
